/* Shows Stripe's element on a page where a card is entered. Card data goes only to Stripe. */

const form = document.querySelector('form[data-client-secret]')
const { act, clientSecret, publishableKey, returnUrl, notLoaded } = form.dataset
const errorText = document.querySelector('#complaint')
const button = form.querySelector('button')

if (window.Stripe === undefined) showError(undefined)
else showElement(window.Stripe(publishableKey))

function showElement(stripe) {
  const { lang: locale } = document.documentElement
  const elements = stripe.elements({
    clientSecret,
    locale,
    appearance: appearanceOf(document.body),
  })
  const element = elements.create('payment')
  element.on('ready', () => (button.disabled = false))
  element.on('loaderror', ({ error }) => showError(error))
  element.mount('#card')

  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    setBusy(true)
    errorText.textContent = ''
    const confirm = act === 'save' ? stripe.confirmSetup : stripe.confirmPayment
    const confirmation = { elements, confirmParams: { return_url: returnUrl } }
    // Resolves only if there was an error. Otherwise the browser leaves for the return address.
    const { error } = await confirm.call(stripe, confirmation)
    if (error === undefined) return
    showError(error)
    setBusy(false)
  })
}

function setBusy(isBusy) {
  button.disabled = isBusy
  form.toggleAttribute('aria-busy', isBusy)
}

function showError(error) {
  errorText.textContent = error?.message ?? notLoaded
}

/** Returns the appearance of the element, because the styles of the page do not apply inside its frame. */
function appearanceOf(body) {
  const isDark = matchMedia('(prefers-color-scheme: dark)').matches
  const style = getComputedStyle(body)
  const colorOf = (name) => style.getPropertyValue(`--${name}`).trim()
  return {
    theme: isDark ? 'night' : 'stripe',
    variables: {
      colorPrimary: colorOf('main'),
      colorBackground: colorOf('surface'),
      colorText: colorOf('text'),
      colorTextSecondary: colorOf('quiet'),
      colorDanger: colorOf('bad'),
      fontFamily: style.fontFamily,
      borderRadius: '9px',
    },
  }
}
