/* Pages work without this script. */

// A page that consists of such a form sends it as soon as it is loaded.
document.querySelector('form[data-send="at-once"]')?.requestSubmit()

// Prevent a second submission, which would be refused or would count as another request.
document.addEventListener('submit', (event) => {
  const form = event.target
  if (form.dataset.sendsItself !== undefined) return
  if (form.dataset.sent === 'yes') return event.preventDefault()
  form.dataset.sent = 'yes'
  form.setAttribute('aria-busy', 'true')
})

// A form can be sent again when the browser returns to its page.
addEventListener('pageshow', () => {
  for (const form of document.querySelectorAll('form[data-sent]')) {
    delete form.dataset.sent
    form.removeAttribute('aria-busy')
  }
})

// A link that suggests a value fills it into its field, and keeps the other fields.
document.addEventListener('click', (event) => {
  const link = event.target.closest?.('a[data-fills]')
  if (!link) return
  event.preventDefault()
  const field = document.getElementById(link.dataset.fills)
  field.value = link.dataset.value
  field.dispatchEvent(new Event('input', { bubbles: true }))
  field.dispatchEvent(new Event('change', { bubbles: true }))
})

document.addEventListener('input', ({ target: { id, value } }) => {
  for (const link of document.querySelectorAll('a[data-fills]')) {
    if (link.dataset.fills !== id) continue
    if (link.dataset.value === value) link.setAttribute('aria-current', 'true')
    else link.removeAttribute('aria-current')
  }
})

// Update the parts of a form that depend on its fields, such as the total, when a field changes.
for (const form of document.querySelectorAll('form[data-updated]')) {
  let lastRequest
  form.addEventListener('change', async () => {
    lastRequest?.abort()
    const { signal } = (lastRequest = new AbortController())
    const body = new URLSearchParams(new FormData(form))
    body.set('step', 'update')
    try {
      const response = await fetch(form.action, { method: 'POST', body, signal })
      if (response.ok)
        replaceParts(form, new DOMParser().parseFromString(await response.text(), 'text/html'))
    } catch {
      // The next page shows the current values.
    }
  })
}

function replaceParts(form, updated) {
  for (const part of form.querySelectorAll('[data-part]')) {
    const replacement = updated.querySelector(`[data-part="${part.dataset.part}"]`)
    if (replacement === null || replacement.innerHTML === part.innerHTML) continue
    part.replaceChildren(...replacement.childNodes)
    const field = document.getElementById(part.dataset.of)
    field?.setAttribute('aria-invalid', String(part.textContent !== ''))
  }
}

// A page that waits for a bank polls its address, and reloads when there is a result.
const pollIntervalMs = 5_000
if (document.querySelector('[data-looks-again]') !== null) setTimeout(poll, pollIntervalMs)

async function poll() {
  try {
    const response = await fetch(location.href)
    if (response.ok && !(await response.text()).includes('data-looks-again'))
      return location.reload()
  } catch {
    // The next poll tries again.
  }
  setTimeout(poll, pollIntervalMs)
}
