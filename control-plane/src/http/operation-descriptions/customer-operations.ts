/** Descriptions of the operations about usage, customers and their money, by operation id. */
export const customerOperations: Readonly<Record<string, string>> = {
  registerCustomerClient:
    'Registers a client for the MCP server of a product (RFC 7591). A client without a method of authentication gets a secret. Redirect URIs lead to the machine of the user, to known applications, or to hosts that this installation allows.',
  authorizeClient:
    'Leads the browser of a customer to the page where the customer signs in and allows the client. Afterwards the browser is sent to `redirect_uri` with a code, or with an error. PKCE with S256 is required.',
  getCustomerTokens:
    'Redeems a code or a refresh token for an access token of 15 minutes and the next refresh token. The access token is a JWT whose `sub` and `customerRef` are the reference of the customer.',
  revokeCustomerToken:
    'Revokes a refresh token or an access token, and with it all other tokens of the same consent. An unknown token is not an error. Multipart forms are accepted, too.',
  getSignedInCustomer:
    'Returns the customer whose access token the request carries. Email and name require the scopes `email` and `profile`.',
  createCustomerLink:
    'Creates a link that leads one customer to a checkout, a top-up or the portal. It asks for a sign-in and refuses every other customer, so it may be visible to others.',
  createAgentClient:
    'Registers a client that gets access tokens for one customer with its own secret (grant `client_credentials`), for agents without a person. The secret is shown once. The client ends with its customer.',
  recordUsage:
    'Records one call of a customer. The answer is sent once the record is stored durably. A record with an idempotency key that was used before counts once. On pre-paid credit plans the answer says what was debited.',
  recordUsages:
    'Records up to 1,000 calls in one request. If one entry is invalid, no entry is recorded, and `errors` names it.',
  recordMeterEvent:
    'Records a value on a meter by its name. The value has at most 6 decimals. Use it for units other than calls, such as tokens or bytes.',
  recordMeterEvents:
    'Records up to 1,000 meter events in one request. If one entry is invalid, no entry is recorded, and `errors` names it.',
  recordEvent:
    'Records one event in the structured JSON of CloudEvents 1.0 (`application/cloudevents+json`, or `application/json`). All meters that read events of its `type` count it in one step. `id` and `source` together are the idempotency key, and `subject` is the customer. The extension attributes `productref`, `purchaseref`, `reservationid` and `outcome` have the meaning of the fields of a call. Further attributes are dropped.',
  recordEvents:
    'Records up to 1,000 CloudEvents in one JSON array (`application/cloudevents-batch+json`, or `application/json`). If one event is invalid, no event is recorded, and `errors` names it.',
  checkLimit:
    'Answers whether the customer may make a call now, and how many units remain. It sees every record that was answered before the check began. With `reserve` it holds units for a call in progress. With `includeCheckoutSession` a refusal carries a link to pay.',
  releaseReservation:
    'Releases the units of a reservation whose call did not take place. A reservation that is not released expires by itself.',
  extendReservation:
    'Moves the expiry of a reservation to `ttlSeconds` from now, for a call that takes longer than expected. It never shortens it. A reservation that was used, released or has expired is refused with `reservation_gone`, and one that would be held for too long since its creation with `reservation_too_long`.',
  reserveUnits:
    'Makes up to 100 reservations for one customer and product in one step, for an agent that starts several calls at once. Each is checked beside those before it and answered by itself. With `allOrNothing`, nothing is held unless all of them can be. A reservation without an `idempotencyKey` is named by the header `Idempotency-Key` and its position, so a repeated request returns the first ones.',
  listAlerts:
    'Returns alerts page by page, oldest first. `customerRef` and `planRef` return those of one customer or plan.',
  createAlert:
    'Creates an alert. `usage.threshold_reached` is sent once for each threshold and period, and `usage.limit_reached` when the limit itself is used up. The alert of a customer comes before that of the plan, and that before the default. Of each, one that names a limit comes before one for every limit. An alert without thresholds turns off a less specific one.',
  getAlert: 'Returns an alert by its reference.',
  updateAlert:
    'Replaces the thresholds of an alert. What was sent in the period is not sent again.',
  deleteAlert: 'Deletes an alert. A less specific alert applies again, if there is one.',
  listBudgets:
    'Returns what the customer wants to spend on each product in a billing period, what the usage of the running period has cost, and whether limit checks refuse because of it. Only the customer sets budgets, in the portal.',
  getTaxDetails:
    'Returns where the customer is taxed, its tax id, and what the register of the EU or a person said about it.',
  setTaxDetails:
    'Stores where the customer is taxed, for all later invoices and payments. Issued invoices keep their tax. A VAT number of the EU is looked up in the register if the installation has one configured, in live only.',
  decideTaxId:
    'Decides whether the tax id of the customer is valid, in place of the register. A customer with an invalid tax id is charged tax like one without a tax id. The decision holds for all customers with the same tax id.',
  forgetTaxIdCheck:
    'Removes what is known about the tax id of the customer, also what a person decided. The register is then asked again.',
  getCustomerMargin:
    'Returns what a customer paid for usage and plans between `from` and `to`, what the calls of language models behind that usage cost, and the difference. Calls of models without a price are counted in `unpricedCalls`. There is no margin if an invoice has another currency than US dollars.',
  findCustomer:
    'Returns the customer with the given `reference`, `externalRef` or `email`. Send exactly one of the three.',
  createCustomer:
    'Creates a customer. If a customer with this email exists and the request has an `externalRef`, the existing customer is linked to it and returned.',
  getCustomer:
    'Returns a customer by its reference. Your own id of the customer (`externalRef`) is accepted too.',
  updateCustomer:
    'Changes the fields that the request holds and keeps the others. An email or `externalRef` that another customer has is refused with 409.',
  deleteCustomer:
    'Deletes a customer and its personal data. Usage and payments are kept for the books. A customer with open invoices, usage that is not billed yet, or credits is refused until the request says whether to bill it or to write it off.',
  getOverrides:
    'Returns the limits and prices that the customer has instead of those of the plans of a product, also of plans that the customer has not bought. The lists are empty without any.',
  setOverrides:
    'Replaces all overrides of the customer for a product. Caps and limits act at once. Prices and included units apply to periods that begin from now on. They follow the customer to other plans with the same charge keys. `prices` agree the base price, set-up fee, unit prices, minimum or ramp of a plan with the customer, also before a purchase, with optional `from` and `until`; the price at the start of a period holds for it. Invoices that exist do not change.',
  removeOverrides:
    'Removes all overrides of the customer for a product. Caps and limits of the plan act at once, and its prices from the next period on.',
  getUserInfo:
    'Returns the purchase of a customer on a product and its usage in the current period, with a link to the portal. Made for the account page of your own product.',
  createCustomerSession:
    'Opens a session of the hosted portal and returns its link. The link is a credential: it opens the portal once and expires after 15 minutes. Redirect the customer to it at once.',
  getCustomerSession: 'Returns a portal session with its status and the customer that it is for.',
  listCustomers:
    'Returns customers page by page, newest first. `search` matches the beginning of an email, a name or a reference.',
  getPaymentMethod:
    'Returns brand, last four digits and expiry of the saved card that renewals and automatic top-ups charge. The card number itself never reaches Tollgate.',
  listPaymentIntents: 'Returns payments page by page, newest first.',
  createPaymentIntent:
    "Creates a payment for a plan or for credits. The customer's browser confirms it with the returned client secret and the payment processor's own form. The header `Idempotency-Key` is required: the same key returns the same payment. The credit of the customer pays first for a plan (`fromBalance`). If it pays everything, the payment has succeeded and has no client secret.",
  getPaymentIntent:
    "Returns a payment. Tollgate's reference and the processor's id are both accepted.",
  setBusinessDetails:
    'Stores the country, and for companies the name and tax id, of the paying customer. Returns the payment with its tax. Call it before the payment is confirmed.',
  processPayment:
    'Waits until the processor has settled a payment that was confirmed, and returns what it bought. If the payment takes longer than the wait, the answer has the status `timeout`: call the operation again.',
  getBalance:
    'Returns the credits of a customer and their value in the currency of display. 10,000 credits are worth 1 USD.',
  grantCredits:
    "Adds credits to the customer's wallet without a payment, for example as a gift. The same `Idempotency-Key` grants once.",
  getAutoRecharge:
    'Returns the terms of automatic top-up: the balance that triggers it, the amount, and its current state.',
  setAutoRecharge:
    'Turns automatic top-up on, or changes its terms. When the balance falls below the threshold, the saved card is charged.',
  disableAutoRecharge:
    'Turns automatic top-up off. Calling it for a customer without automatic top-up succeeds.',
  listExchangeRates: 'Returns the exchange rates that credit balances are displayed with.',
  setExchangeRate:
    'Sets how many units of a currency one US dollar is worth when credits are displayed. Charges do not use this rate.',
  removeExchangeRate: 'Removes your rate of a currency. Balances use the built-in rate again.',
  listCreditTransactions:
    "Returns the ledger entries of a customer's wallet page by page, newest first: purchases, grants, debits, adjustments and expiries.",
  adjustCredits:
    "Adds credits to a customer's wallet or removes them, with a reason that the audit log keeps. The balance never falls below zero. The same `Idempotency-Key` adjusts once.",
  getUsage:
    'Returns usage over time, of all customers or of one. Buckets are whole hours or longer. Usage of the last seconds may be missing: the numbers cover what is stored in ClickHouse.',
  getUsageBreakdown:
    'Returns the customers, products or meters with the most usage in a time range. Usage of the last seconds may be missing: the numbers cover what is stored in ClickHouse.',
  exploreUsage:
    'Returns usage of up to 10 meters by time and by customer, product, purchase, outcome or dimension, with the time before if `compare` asks for it, as JSON or CSV. `sql` is the statement that a data team runs for the same numbers. Grouped by a dimension, it covers the records that have the dimension. Usage of the last seconds may be missing: the numbers cover what is stored in ClickHouse.',
}
