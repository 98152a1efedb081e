# Takes a page away from both caches when it was created, updated or destroyed, and the list of all pages with it.
# The observers that Rails once had for this are a separate gem today; a callback object does the same.
# A request that read the old page before the change may still write it afterwards, as with every page cache.
# Source: Rails Guides 6.1, "Active Record Callbacks", section "Callback Classes".
class PageSweeper
  def self.after_commit(page)
    paths = Rails.application.routes.url_helpers
    CachedPagesController.expire_page(paths.cached_page_path(page))
    CachedPagesController.expire_page(paths.cached_pages_path)
    Rails.cache.delete(SqlitePage.cached_as(page.id))
  end
end
