# A page without a database: what Rails itself costs.
class PlainController < ApplicationController
  def show; end
end
