const reloadedKey = 'tollgate-reloaded'

/**
 * Reloads the page if a script of it is missing, because an upgrade replaced the scripts while the page was open. The same build is
 * reloaded only once, so that a script that stays missing shows a failure.
 */
export function reloadAfterUpgrade(): void {
  window.addEventListener('vite:preloadError', () => {
    const build = import.meta.url
    if (sessionStorage.getItem(reloadedKey) === build) return
    sessionStorage.setItem(reloadedKey, build)
    location.reload()
  })
}
