/*
 * Every word that an invoice or a credit note prints, by name, so that a translation only has to replace this table. `{{name}}` is
 * a placeholder for a value, as in the catalogs of i18next.
 */

const documentWords = {
  invoice: 'Invoice',
  receipt: 'Invoice and receipt',
  creditNote: 'Credit note',
  ofTestMode: '{{title}} (test)',
  from: 'From',
  billTo: 'Bill to',
  number: 'Number',
  date: 'Date',
  dueDate: 'Due date',
  status: 'Status',
  paidOn: 'Paid on',
  product: 'Product',
  plan: 'Plan',
  reference: 'Reference',
  ofInvoice: 'For invoice',
  invoiceDate: 'Invoice date',
  voidSince: 'Void since',

  companyNumber: 'Company number {{number}}',
  taxId: 'Tax ID {{number}}',

  description: 'Description',
  quantity: 'Quantity',
  unitPrice: 'Unit price',
  amount: 'Amount',
  period: '{{start}} – {{end}}',
  unitsOf: '{{units}} {{meter}}',
  unitsCounted: '{{units}} of them counted',
  unitsFree: '{{units}} free',
  unitsIncluded: '{{units}} included',
  unitsCarriedOver: '{{units}} carried over',
  unitsOfPacks: '{{units}} from packs',
  unitsLateOfPacks: '{{units}} of them from packs',
  unitsUsedBefore: '{{units}} used before the plan change',
  unitsLate: '{{units}} {{meter}} recorded after the {{before}} that were billed',
  unitsSinceBill: '{{units}} {{meter}} after the {{before}} that were billed for {{amount}}',
  carriedOverChange: '{{units}} carried over since then',
  unitsLateBefore: '{{units}} more used before the plan change',
  packages: '{{units}} in packages of {{size}}',
  rate: 'at 1 USD = {{rate}} {{currency}}',
  credits: '{{credits}} credits',

  subtotal: 'Subtotal',
  total: 'Total ({{currency}})',
  totalCredited: 'Total credited ({{currency}})',
  toNextInvoice: 'To the next invoice',
  creditNotes: 'Credit notes',
  paid: 'Paid',
  refunded: 'Refunded',
  takenBack: 'Taken back by the bank',
  amountDue: 'Amount due',
  includedTax: '{{tax}}, included',

  tax: 'Tax',
  percent: '{{percent}} %',
  taxRate: 'Rate',
  taxBase: 'Taxable amount',
  taxAmount: 'Tax amount',

  payments: 'Payments',
  paymentDate: 'Paid on',
  paymentMethod: 'Paid with',
  otherMethod: 'No card on record',
  card: '{{brand}} ending in {{last4}}',
  cardWithExpiry: '{{card}} ({{expiry}})',

  reverseChargeNote:
    'Reverse charge: VAT is to be accounted for by the recipient (Articles 44 and 196, Directive 2006/112/EC).',
  noVatNote:
    'No tax is charged: the place of supply is outside the territory where the seller is registered for it.',
  disputeOpen: 'The payment of {{payment}} is disputed. The bank has not decided yet.',
  disputeLost:
    'The payment of {{payment}} was disputed, and the bank has returned it to the cardholder.',
  paymentWithCard: '{{amount}} with {{card}}',
  creditNoteOfInvoice: 'Credit note {{number}} of {{date}}, {{amount}}{{tax}}{{reason}}{{void}}',
  creditNoteTax: ', of which tax {{amount}}',
  creditNoteReason: ': {{reason}}',
  creditNoteVoid: ', void since {{date}}',

  reason: 'Reason: {{reason}}',
  settlesInvoice: 'The credit reduces what is due on invoice {{number}}.',
  settlesBalance: 'The credit is deducted from the next invoice.',
  settlesRefund: 'The credit is paid back with the payment method that paid the invoice.',
  noteIsVoid: 'The refund did not arrive, so this credit note no longer counts.',

  page: 'Page {{page}} of {{pages}}',

  draft: 'Draft',
  open: 'Open',
  void: 'Void',
  uncollectible: 'Uncollectible',
  partlyRefunded: 'Partly refunded',
  disputed: 'Disputed',
  disputedAndTakenBack: 'Disputed, taken back by the bank',
} as const

type TextName = keyof typeof documentWords

/** Returns the text with its values inserted. */
export function documentText(
  name: TextName,
  values: Readonly<Record<string, string | number>> = {},
): string {
  return documentWords[name].replaceAll(/\{\{(\w+)\}\}/g, (_, key: string) =>
    String(values[key] ?? ''),
  )
}
