# One simple page from MySQL.
class MysqlPagesController < ApplicationController
  before_action { Surroundings.require_mysql! }

  def show
    @page = MysqlPage.find(params[:id])
    render "pages/show"
  end
end
