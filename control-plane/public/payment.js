/* Stripe's element on the page of a payment. Card data goes to Stripe, and to nobody else. */

const form = document.querySelector('form[data-client-secret]')
const { clientSecret, publishableKey, returnUrl } = form.dataset
const complaint = document.querySelector('#complaint')
const button = form.querySelector('button')
const isDark = matchMedia('(prefers-color-scheme: dark)').matches

const stripe = Stripe(publishableKey)
const elements = stripe.elements({
  clientSecret,
  appearance: { theme: isDark ? 'night' : 'stripe' },
})
const element = elements.create('payment')
element.on('ready', () => (button.disabled = false))
element.mount('#card')

form.addEventListener('submit', async (event) => {
  event.preventDefault()
  button.disabled = true
  complaint.textContent = ''
  // Resolves only when something was wrong: else the browser is on its way to the return address.
  const { error } = await stripe.confirmPayment({
    elements,
    confirmParams: { return_url: returnUrl },
  })
  complaint.textContent = error.message
  button.disabled = false
})
