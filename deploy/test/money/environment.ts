/** Of all that happens in these tests. */
export const environment = 'sandbox'
