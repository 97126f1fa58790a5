/** Pages of the navigation, in its order. */
export const pages = [
  { to: '/$environment', label: 'Home', text: 'Today, the last 30 days, and what needs attention' },
  { to: '/$environment/usage', label: 'Usage', text: 'Usage by time, customer, product and more' },
  {
    to: '/$environment/customers',
    label: 'Customers',
    text: 'Customers with their usage and payments',
  },
  { to: '/$environment/purchases', label: 'Purchases', text: 'Who has which plan' },
  { to: '/$environment/products', label: 'Products', text: 'Products with their plans and prices' },
  { to: '/$environment/invoices', label: 'Invoices', text: 'Open, paid and overdue invoices' },
  { to: '/$environment/webhooks', label: 'Webhooks', text: 'Endpoints and their deliveries' },
  { to: '/$environment/keys', label: 'API keys', text: 'Secret keys of your programs' },
  {
    to: '/$environment/members',
    label: 'Members',
    text: 'People who can sign in, and their roles',
  },
  { to: '/$environment/audit', label: 'Audit log', text: 'Who changed what' },
  {
    to: '/$environment/reconciliations',
    label: 'Reconciliations',
    text: 'Reports that compare data with its sources',
  },
] as const
