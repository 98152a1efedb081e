# One simple page from SQLite.
class SqlitePagesController < ApplicationController
  def show
    @page = SqlitePage.find(params[:id])
    render "pages/show"
  end
end
