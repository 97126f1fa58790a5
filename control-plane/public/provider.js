/* The pages work without this. */

// The token of a one-time link is in the fragment, which no server sees: it goes into the form, and out of the address.
const linkField = document.querySelector('[data-filled-by-script]')
if (linkField !== null && location.hash.startsWith('#token=')) {
  linkField.querySelector('input').value = location.hash
  linkField.hidden = true
  history.replaceState(null, '', location.pathname)
}

// A form that is sent twice would be refused the second time.
document.addEventListener('submit', (event) => {
  const form = event.target
  if (form.dataset.sent === 'yes') return event.preventDefault()
  form.dataset.sent = 'yes'
  form.setAttribute('aria-busy', 'true')
})
addEventListener('pageshow', () => {
  for (const form of document.querySelectorAll('form[data-sent]')) {
    delete form.dataset.sent
    form.removeAttribute('aria-busy')
  }
})

// Commands are copied with one click.
for (const command of document.querySelectorAll('[data-command]')) {
  if (navigator.clipboard === undefined) break
  const button = document.createElement('button')
  button.type = 'button'
  button.className = 'button copy'
  // People who speak to their computer say what they see: the label begins with it.
  const show = (text) => {
    button.textContent = text
    button.setAttribute('aria-label', `${text}: ${command.dataset.command}`)
  }
  show('Copy')
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(command.querySelector('code').textContent)
    show('Copied')
    setTimeout(() => show('Copy'), 2_000)
  })
  command.append(button)
}
