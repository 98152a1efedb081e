"""Find the app in a user's folder: a Django project, a Rack app, or the Python apps in its code."""
