"""What is for sale."""
