/** Texts of emails to customers. */
export const emailsEnglish = {
  // Every email.
  hello: 'Hello {{name}},',
  helloNobody: 'Hello,',
  account: 'Open your account',
  accountSignIn: 'The link asks you to sign in. It is valid for {{duration}}.',
  sentBecause: 'You get this email because you are a customer of {{name}}.',
  unsubscribe: 'Unsubscribe from such notices',
  product: 'Product',
  plan: 'Plan',
  amount: 'Amount',
  date: 'Date',
  // Receipt.
  receiptSubject: 'Your receipt from {{name}}: {{amount}}',
  receiptTitle: 'Thank you for your payment',
  receiptText: 'We received your payment of {{amount}} on {{date}}.',
  receiptAttached: 'The receipt is attached as a PDF.',
  receiptInvoice: 'Invoice',
  receiptCard: 'Paid with',
  // Renewal.
  renewalSubject: '{{plan}} renews on {{date}}',
  renewalTitle: 'Your plan renews soon',
  renewalText: '{{plan}} renews on {{date}} for {{amount}}.',
  renewalAction:
    'You do not need to do anything. To change or cancel the plan, open your account before that day.',
  // End of a trial.
  trialSubject: 'Your trial of {{plan}} ends on {{date}}',
  trialTitle: 'Your trial ends soon',
  trialText: 'Your trial of {{plan}} ends on {{date}}. After that, it costs {{amount}}.',
  trialTextFree: 'Your trial of {{plan}} ends on {{date}}.',
  trialAction:
    'You do not need to do anything if the card in your account is valid. To change or cancel the plan, open your account before that day.',
  // Failed payment.
  failedSubject: 'Your payment to {{name}} failed',
  failedTitle: 'A payment failed',
  failedText: 'We could not charge your card for {{plan}}.',
  failedRetry: 'We will try again on {{date}}.',
  failedPaused: '{{plan}} is paused because a payment is missing.',
  failedTopUp: 'We could not charge your card for the automatic top-up of your credits.',
  failedAction: 'Check the card in your account, or save another one.',
  // Change of plan.
  changedSubject: 'Your plan is now {{plan}}',
  changedTitle: 'Your plan has changed',
  changedText: 'Your plan for {{product}} is now {{plan}}.',
  changedTextFrom: 'Your plan for {{product}} changed from {{before}} to {{plan}}.',
  changedAction: 'If you did not expect this, open your account or write to us.',
  termsSubject: 'The terms of {{plan}} have changed',
  termsTitle: 'Your terms have changed',
  termsText: 'New terms of {{plan}} now apply to you for {{product}}.',
  changeWithdrawnSubject: 'Your plan for {{product}} does not change',
  changeWithdrawnTitle: 'Your plan stays as it is',
  changeWithdrawnText:
    'The announced change of your plan for {{product}} will not take place. You keep {{plan}} on its current terms.',
  changeAheadSubject: 'Your plan for {{product}} changes on {{date}}',
  changeAheadTitle: 'Your plan will change',
  changeAheadText: 'Your plan for {{product}} changes to {{plan}} on {{date}}.',
  termsAheadText: 'New terms of {{plan}} apply to you for {{product}} from {{date}}.',
  changeAheadAction: 'If you do not agree, you can cancel or choose another plan before that date.',
  // Budget.
  budgetSubject: 'Your budget for {{product}} is used up',
  budgetTitle: 'Your budget is used up',
  budgetText: 'Usage of {{product}} has cost {{amount}} in this period. Your budget is {{budget}}.',
  budgetStop:
    'Further usage is refused until the period ends on {{date}}, or until you raise the budget.',
  budgetWarn: 'Usage continues. You can change the budget in your account.',
  // Expiry of credits.
  expirySubject_one: '{{count}} credit expires on {{date}}',
  expirySubject_other: '{{count}} credits expire on {{date}}',
  expiryTitle: 'Credits expire soon',
  expiryText_one: '{{count}} credit in your account expires on {{date}}. Use it before that day.',
  expiryText_other:
    '{{count}} credits in your account expire on {{date}}. Use them before that day.',
  // The page of the unsubscribe link.
  unsubscribeTitle: 'Unsubscribe?',
  unsubscribeText:
    '{{address}} then gets no more notices from {{name}} about budgets and expiring credits. Receipts and other emails about your plan and your payments are still sent.',
  unsubscribeButton: 'Unsubscribe',
  unsubscribedTitle: 'You are unsubscribed',
  unsubscribedText: 'You get no more of these notices.',
} as const
