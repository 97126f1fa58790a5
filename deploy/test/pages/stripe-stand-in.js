/*
 * Stands in for Stripe.js in the tests of the pages: what they use of it, on the terms of its documentation. It runs in the
 * page as Stripe's own script would, under the page's policy, and pays at the simulator.
 */
window.Stripe = (publishableKey) => {
  window.stripeCalls = [['Stripe', publishableKey]]
  const note = (...call) => window.stripeCalls.push(call)
  const confirm =
    (name) =>
    async ({ elements, confirmParams }) => {
      note(name, confirmParams)
      const number = elements.number()
      const answer = await fetch(`https://api.stripe.com/confirm`, {
        method: 'POST',
        body: JSON.stringify({ clientSecret: elements.clientSecret, number, ...confirmParams }),
      })
      const { error, url } = await answer.json()
      if (error !== undefined) return { error }
      location.assign(url)
      return new Promise(() => undefined)
    }
  return {
    elements: ({ clientSecret, appearance }) => {
      note('elements', appearance)
      let input
      return {
        clientSecret,
        number: () => input.value,
        create: (type) => {
          const listeners = {}
          note('create', type)
          return {
            on: (event, listener) => (listeners[event] = listener),
            mount: (selector) => {
              const label = document.createElement('label')
              label.textContent = 'Card number'
              input = document.createElement('input')
              label.append(input)
              document.querySelector(selector).append(label)
              listeners.ready?.()
            },
          }
        },
      }
    },
    confirmPayment: confirm('confirmPayment'),
    confirmSetup: confirm('confirmSetup'),
  }
}
