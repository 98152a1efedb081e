# Pages that are rendered once and then fetched from memcached.
class MemcachedPagesController < ApplicationController
  before_action { Surroundings.require_memcached! }

  def show
    text = Rails.cache.fetch(SqlitePage.cached_as(params[:id])) do
      @page = SqlitePage.find(params[:id])
      render_to_string "pages/show"
    end
    render html: text.html_safe
  end
end
