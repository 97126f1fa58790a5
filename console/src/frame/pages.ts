/** Pages of the navigation, in its order. */
export const pages = [
  {
    to: '/$environment/customers',
    label: 'Customers',
    text: 'Who buys, and what they use and pay',
  },
  { to: '/$environment/invoices', label: 'Invoices', text: 'What is owed, paid and overdue' },
  { to: '/$environment/keys', label: 'API keys', text: 'Secret keys of your programs' },
] as const
