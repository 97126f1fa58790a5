/* The pages work without this. */

// The page that a link leads to only exists to be sent on.
document.querySelector('form[data-send="at-once"]')?.requestSubmit()

// Sent twice, the second time would be refused or, worse, be another one.
document.addEventListener('submit', (event) => {
  const form = event.target
  if (form.dataset.sendsItself !== undefined) return
  if (form.dataset.sent === 'yes') return event.preventDefault()
  form.dataset.sent = 'yes'
  form.setAttribute('aria-busy', 'true')
})

// Back from the page that it led to, a form is ready again.
addEventListener('pageshow', () => {
  for (const form of document.querySelectorAll('form[data-sent]')) {
    delete form.dataset.sent
    form.removeAttribute('aria-busy')
  }
})
