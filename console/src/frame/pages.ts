/** Pages of the navigation, in its order. */
export const pages = [
  {
    to: '/$environment/customers',
    label: 'Customers',
    text: 'Customers with their usage and payments',
  },
  { to: '/$environment/invoices', label: 'Invoices', text: 'Open, paid and overdue invoices' },
  { to: '/$environment/keys', label: 'API keys', text: 'Secret keys of your programs' },
] as const
