/** Environment of all these tests. */
export const environment = 'sandbox'
