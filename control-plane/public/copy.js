/* Pages work without this: it adds buttons that copy code. */

async function copy(text) {
  // Browsers offer the clipboard to https and to this machine alone.
  if (navigator.clipboard !== undefined) return navigator.clipboard.writeText(text)
  const field = document.createElement('textarea')
  field.value = text
  document.body.append(field)
  field.select()
  document.execCommand('copy')
  field.remove()
}

for (const block of document.querySelectorAll('[data-copied-as]')) {
  const button = document.createElement('button')
  button.type = 'button'
  button.className = 'button copy'
  // People who speak to their computer say what they see: the label begins with it.
  const show = (text) => {
    button.textContent = text
    button.setAttribute('aria-label', `${text}: ${block.dataset.copiedAs}`)
  }
  show('Copy')
  button.addEventListener('click', async () => {
    await copy(block.querySelector('code').textContent)
    show('Copied')
    setTimeout(() => show('Copy'), 2_000)
  })
  block.append(button)
}
