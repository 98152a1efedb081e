"""What a folder of the user's holds: its Django project, its Rack app, or the Python apps in its code."""
