# Loads the application and initializes it, once per process or before the server forks.
require_relative "application"

Rails.application.initialize!
