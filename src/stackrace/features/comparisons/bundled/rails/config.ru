# The Rack entry that puma and Passenger load.
require_relative "config/environment"

run Rails.application
