/* The pages work without this. */

// The token of a one-time link is in the fragment, which no server sees: it goes into the form, and out of the address.
const linkField = document.querySelector('[data-filled-by-script]')
if (linkField !== null && location.hash.startsWith('#token=')) {
  linkField.querySelector('input').value = location.hash
  linkField.hidden = true
  history.replaceState(null, '', location.pathname)
}
