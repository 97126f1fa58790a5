/* Stripe's element on a page where a card is entered. Card data goes to Stripe, and to nobody else. */

const form = document.querySelector('form[data-client-secret]')
const { act, clientSecret, publishableKey, returnUrl, notLoaded } = form.dataset
const complaint = document.querySelector('#complaint')
const button = form.querySelector('button')

if (window.Stripe === undefined) complain(undefined)
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
  element.on('loaderror', ({ error }) => complain(error))
  element.mount('#card')

  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    setBusy(true)
    complaint.textContent = ''
    const confirm = act === 'save' ? stripe.confirmSetup : stripe.confirmPayment
    const confirmation = { elements, confirmParams: { return_url: returnUrl } }
    // Answers only where something was wrong: else the browser is on its way to the return address.
    const { error } = await confirm.call(stripe, confirmation)
    if (error === undefined) return
    complain(error)
    setBusy(false)
  })
}

function setBusy(isBusy) {
  button.disabled = isBusy
  form.toggleAttribute('aria-busy', isBusy)
}

function complain(error) {
  complaint.textContent = error?.message ?? notLoaded
}

/** The element is in a frame, where our style does not reach: it is told of it. */
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
