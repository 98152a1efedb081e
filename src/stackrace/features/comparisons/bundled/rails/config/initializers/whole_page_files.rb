# Page caching opens the very file that a front end serves and then fills it: who asks meanwhile gets half a page.
# Here a page is written beside it and renamed, which is atomic. Source: rename(2).
module WholePageFiles
  private

  def write(content, path, _gzip)
    return unless path

    FileUtils.makedirs(File.dirname(path))
    part = "#{path}.#{Process.pid}-#{Thread.current.object_id}"
    File.binwrite(part, content)
    File.rename(part, path)
  end
end

ActionController::Caching::Pages::PageCache.prepend(WholePageFiles)
