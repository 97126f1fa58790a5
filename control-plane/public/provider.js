/* Pages work without this script. */

// The token of a one-time link is in the fragment, which browsers send to no server. Move it from the address into the form.
const linkField = document.querySelector('[data-filled-by-script]')
if (linkField !== null && location.hash.startsWith('#token=')) {
  linkField.querySelector('input').value = location.hash
  linkField.hidden = true
  history.replaceState(null, '', location.pathname)
}
