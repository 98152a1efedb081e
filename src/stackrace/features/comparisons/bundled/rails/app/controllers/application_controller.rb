# What all pages share.
class ApplicationController < ActionController::Base
  # There are no sessions, so there is nobody's request to forge.
  skip_forgery_protection

  rescue_from Surroundings::Missing do |missing|
    render plain: "#{missing.message}\n", status: :service_unavailable
  end

  rescue_from ActiveRecord::RecordNotFound do
    render plain: "There is no such page.\n", status: :not_found
  end
end
