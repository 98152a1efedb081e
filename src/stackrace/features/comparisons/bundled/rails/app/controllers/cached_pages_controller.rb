# Pages that are rendered once and then served as files, until a sweeper takes them away.
class CachedPagesController < ApplicationController
  caches_page :index, :show, gzip: false

  def index
    @pages = SqlitePage.order(:id)
    render "pages/index"
  end

  def show
    @page = SqlitePage.find(params[:id])
    render "pages/show"
  end

  def create
    page = SqlitePage.new(attributes)
    answer page, page.save, :created
  end

  def update
    page = SqlitePage.find(params[:id])
    answer page, page.update(attributes), :ok
  end

  def destroy
    SqlitePage.find(params[:id]).destroy!
    head :no_content
  end

  private

  def attributes
    params.permit(:title, :body)
  end

  def answer(page, saved, status)
    if saved
      head status, location: cached_page_path(page)
    else
      render plain: "#{page.errors.full_messages.join("\n")}\n", status: :unprocessable_entity
    end
  end
end
