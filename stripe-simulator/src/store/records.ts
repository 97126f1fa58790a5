/*
 * Records contain what Stripe's API returns, except fields that depend on the caller. Internal fields of the simulator are in
 * `simulator` and not part of answers.
 */

export type Mode = 'test' | 'live'
export type Metadata = Readonly<Record<string, string>>

type Base<Kind extends string> = {
  readonly id: string
  readonly object: Kind
  readonly created: number
  readonly livemode: boolean
}

export type Customer = Base<'customer'> & {
  readonly email: string | null
  readonly name: string | null
  readonly description: string | null
  readonly metadata: Metadata
  readonly invoice_settings: {
    readonly custom_fields: null
    readonly default_payment_method: string | null
    readonly footer: null
    readonly rendering_options: null
  }
  readonly delinquent: false
  readonly balance: 0
  readonly currency: null
  readonly default_source: null
  readonly shipping: null
  readonly deleted?: true
}

export type CardDetails = {
  readonly brand: string
  readonly last4: string
  readonly exp_month: number
  readonly exp_year: number
  readonly funding: 'credit'
  readonly country: 'US'
  readonly fingerprint: string
}

export type PaymentMethod = Base<'payment_method'> & {
  readonly type: 'card'
  readonly customer: string | null
  readonly billing_details: {
    readonly address: null
    readonly email: string | null
    readonly name: string | null
    readonly phone: null
    readonly tax_id: null
  }
  readonly card: CardDetails & {
    readonly checks: null
    readonly display_brand: string
    readonly generated_from: null
    readonly networks: null
    readonly three_d_secure_usage: { readonly supported: true }
    readonly wallet: null
    readonly regulated_status: 'unregulated'
  }
  readonly metadata: Metadata
  readonly simulator: {
    readonly number: string
    /** Whether the customer has authenticated the card for later charges. */
    readonly isSetUp: boolean
    /** Whether the card can no longer be used: it was used once without a customer, or was detached from one. */
    readonly isUsedUp: boolean
  }
}

export type LastError = {
  readonly type: 'card_error' | 'invalid_request_error'
  readonly code: string
  readonly decline_code?: string
  readonly advice_code?: string
  readonly message: string
  readonly charge?: string
  readonly payment_method?: object
}

type IntentBase<Kind extends string> = Base<Kind> & {
  readonly customer: string | null
  readonly client_secret: string
  readonly description: string | null
  readonly payment_method: string | null
  readonly payment_method_types: readonly ['card']
  readonly metadata: Metadata
  readonly cancellation_reason: string | null
  readonly simulator: { readonly returnUrl: string | null }
}

export type PaymentIntent = IntentBase<'payment_intent'> & {
  readonly status:
    | 'requires_payment_method'
    | 'requires_confirmation'
    | 'requires_action'
    | 'processing'
    | 'succeeded'
    | 'canceled'
  readonly amount: number
  readonly amount_capturable: 0
  readonly amount_received: number
  readonly currency: string
  readonly latest_charge: string | null
  readonly last_payment_error: LastError | null
  readonly setup_future_usage: 'off_session' | 'on_session' | null
  readonly canceled_at: number | null
  readonly capture_method: 'automatic_async'
  readonly confirmation_method: 'automatic'
}

export type SetupIntent = IntentBase<'setup_intent'> & {
  readonly status:
    | 'requires_payment_method'
    | 'requires_confirmation'
    | 'requires_action'
    | 'succeeded'
    | 'canceled'
  readonly usage: string
  readonly last_setup_error: LastError | null
  readonly mandate: null
  readonly latest_attempt: null
}

export type Charge = Base<'charge'> & {
  readonly status: 'succeeded' | 'pending' | 'failed'
  readonly amount: number
  readonly amount_captured: number
  readonly amount_refunded: number
  readonly currency: string
  readonly customer: string | null
  readonly description: string | null
  readonly payment_intent: string
  readonly payment_method: string
  readonly payment_method_details: { readonly type: 'card'; readonly card: CardDetails }
  readonly balance_transaction: string | null
  readonly billing_details: PaymentMethod['billing_details']
  readonly captured: boolean
  readonly disputed: boolean
  readonly failure_code: string | null
  readonly failure_message: string | null
  readonly metadata: Metadata
  readonly paid: boolean
  readonly refunded: boolean
  readonly receipt_url: null
  readonly simulator: { readonly number: string; readonly disputedAmount: number }
}

export type Refund = Omit<Base<'refund'>, 'livemode'> & {
  readonly status: 'pending' | 'succeeded' | 'failed'
  readonly amount: number
  readonly currency: string
  readonly charge: string
  readonly payment_intent: string
  readonly balance_transaction: string | null
  readonly failure_balance_transaction?: string
  readonly failure_reason?: string
  readonly pending_reason?: string
  readonly reason: string | null
  readonly receipt_number: null
  readonly metadata: Metadata
}

export type Dispute = Base<'dispute'> & {
  readonly status:
    'needs_response' | 'under_review' | 'warning_needs_response' | 'warning_closed' | 'won' | 'lost'
  readonly amount: number
  readonly currency: string
  readonly charge: string
  readonly payment_intent: string
  readonly reason: string
  readonly is_charge_refundable: boolean
  readonly balance_transactions: readonly BalanceTransaction[]
  readonly enhanced_eligibility_types: readonly []
  readonly evidence: object
  readonly evidence_details: {
    readonly due_by: number
    readonly has_evidence: boolean
    readonly past_due: false
    readonly submission_count: number
    readonly enhanced_eligibility: object
  }
  readonly metadata: Metadata
}

export type Payout = Base<'payout'> & {
  readonly status: 'pending' | 'in_transit' | 'paid' | 'failed' | 'canceled'
  readonly amount: number
  readonly currency: string
  readonly arrival_date: number
  readonly automatic: false
  readonly balance_transaction: string
  readonly failure_balance_transaction: string | null
  readonly failure_code: string | null
  readonly failure_message: string | null
  readonly description: string | null
  readonly destination: null
  readonly method: 'standard'
  readonly reconciliation_status: 'not_applicable'
  readonly source_type: 'card'
  readonly statement_descriptor: null
  readonly type: 'bank_account'
  readonly metadata: Metadata
  readonly application_fee: null
  readonly application_fee_amount: null
  readonly original_payout: null
  readonly reversed_by: null
  readonly payout_method: null
  readonly trace_id: null
}

export type BalanceTransaction = Omit<Base<'balance_transaction'>, 'livemode'> & {
  readonly amount: number
  readonly fee: number
  readonly net: number
  readonly currency: string
  readonly source: string
  readonly type: string
  readonly reporting_category: string
  readonly status: 'available' | 'pending'
  readonly available_on: number
  readonly description: string | null
  readonly exchange_rate: null
  readonly balance_type: 'payments'
  readonly fee_details: readonly {
    readonly amount: number
    readonly currency: string
    readonly type: 'stripe_fee'
    readonly application: null
    readonly description: string
  }[]
}

export type StripeEvent = Base<'event'> & {
  readonly type: string
  readonly api_version: string
  readonly pending_webhooks: number
  readonly request: { readonly id: string | null; readonly idempotency_key: string | null }
  readonly data: { readonly object: object; readonly previous_attributes?: object }
}

export type WebhookEndpoint = Base<'webhook_endpoint'> & {
  readonly url: string
  readonly enabled_events: readonly string[]
  readonly status: 'enabled' | 'disabled'
  readonly description: string | null
  readonly api_version: null
  readonly application: null
  readonly metadata: Metadata
  readonly simulator: { readonly secret: string }
}

/** Balance of one currency. */
export type Balance = Base<'balance_of_currency'> & {
  readonly available: number
  readonly pending: number
}

export type Records = {
  customer: Customer
  payment_method: PaymentMethod
  payment_intent: PaymentIntent
  setup_intent: SetupIntent
  charge: Charge
  refund: Refund
  dispute: Dispute
  payout: Payout
  balance_transaction: BalanceTransaction
  balance_of_currency: Balance
  event: StripeEvent
  webhook_endpoint: WebhookEndpoint
}
export type Kind = keyof Records
