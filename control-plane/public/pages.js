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

// A link that suggests a value fills it in where a script can, and keeps the rest of the form.
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

// What follows from the fields of a form, such as the total, is asked for as soon as they change.
for (const form of document.querySelectorAll('form[data-updated]')) {
  let last
  form.addEventListener('change', async () => {
    last?.abort()
    const { signal } = (last = new AbortController())
    const body = new URLSearchParams(new FormData(form))
    body.set('step', 'update')
    try {
      const answer = await fetch(form.action, { method: 'POST', body, signal })
      if (answer.ok)
        showParts(form, new DOMParser().parseFromString(await answer.text(), 'text/html'))
    } catch {
      // It is shown on the next page.
    }
  })
}

function showParts(form, fresh) {
  for (const part of form.querySelectorAll('[data-part]')) {
    const other = fresh.querySelector(`[data-part="${part.dataset.part}"]`)
    if (other === null || other.innerHTML === part.innerHTML) continue
    part.replaceChildren(...other.childNodes)
    const field = document.getElementById(part.dataset.of)
    field?.setAttribute('aria-invalid', String(part.textContent !== ''))
  }
}

// A page that waits for a bank changes once there is something to tell.
const lookAgainMs = 5_000
if (document.querySelector('[data-looks-again]') !== null) setTimeout(lookAgain, lookAgainMs)

async function lookAgain() {
  try {
    const answer = await fetch(location.href)
    if (answer.ok && !(await answer.text()).includes('data-looks-again')) return location.reload()
  } catch {
    // Asked again in a while.
  }
  setTimeout(lookAgain, lookAgainMs)
}
