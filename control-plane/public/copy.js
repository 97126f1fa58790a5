/* Adds buttons that copy code. Pages work without this script. */

async function copy(text) {
  // Browsers offer the clipboard only over https and on this machine.
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
  // The label begins with the visible text, so that people can activate the button by voice.
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
