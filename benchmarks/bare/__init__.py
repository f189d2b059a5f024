"""The least Django that answers a message with a stream: the floor of `first_frame`."""
