# A page in SQLite. A sweeper watches it.
class SqlitePage < SqliteRecord
  self.table_name = "pages"

  validates :title, presence: true, length: { maximum: 100 }
  validates :body, presence: true, length: { maximum: 10_000 }

  after_commit PageSweeper

  # The key of the rendered page in memcached; ids have one spelling each.
  def self.cached_as(id)
    "pages/#{id}"
  end
end
