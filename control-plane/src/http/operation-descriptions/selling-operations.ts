/** Descriptions of the operations about what is sold and bought, by operation id. */
export const sellingOperations: Readonly<Record<string, string>> = {
  listProducts: 'Returns products with their plans page by page, newest first.',
  createProduct: 'Creates a product. Add at least one plan before customers can buy it.',
  getProduct: 'Returns a product with its plans.',
  updateProduct: 'Changes the fields that the request holds and keeps the others.',
  deleteProduct:
    'Deletes a product that was never bought. A product with purchases is deactivated instead: it can no longer be bought, and the purchases continue.',
  cloneProduct: 'Creates a copy of a product and of its plans under a new reference.',
  listPlans: 'Returns the plans of a product page by page.',
  createPlan:
    'Creates a plan. Prices are integers in the smallest unit of the currency. `type` and `billingModel` decide which other fields apply.',
  previewPrice:
    'Returns what the usage of one period costs on the plan, line by line as on an invoice, and what the minimum of the plan adds, without the price of the period and without tax. `changes` are priced as if the plan had been updated with them, and refused as the update would be. Nothing is stored.',
  previewPriceCurve:
    'Returns what one period costs on the plan at several numbers of units of a meter, for a chart of the price over usage. Computed by the functions that bill, with the same `changes` as the price preview. Nothing is stored.',
  previewPlanUpdate:
    'Returns, page by page, what each holder of the plan pays by the terms of its purchase and what it would pay by the changed plan, on the usage of its last complete period and without tax. Holders keep their terms: only purchases that begin after the change get it. A change that would be refused is refused alike. Nothing is stored.',
  getPlan: 'Returns a plan with its prices, limits and trial.',
  updatePlan:
    'Changes the fields that the request holds. Purchases keep the terms of the plan at the time of purchase; only new purchases get the change.',
  deletePlan:
    'Deletes a plan without purchases. A plan with purchases is archived instead: it is no longer offered, and the purchases continue.',
  listAddOns: 'Returns the add-ons of a product page by page, newest first.',
  createAddOn:
    'Creates an add-on, which customers attach to a plan and pay for with each period. It has the currency and the billing cycle of its plans.',
  getAddOn: 'Returns an add-on with its price and the plans that customers can attach it to.',
  updateAddOn:
    'Changes an add-on for customers who attach it afterwards. Purchases keep the terms with which it was attached.',
  deleteAddOn:
    'Deletes an add-on that no customer has ever attached. An add-on that a customer has or had is archived: customers can no longer attach it, and purchases keep it.',
  setAddOn:
    'Attaches an add-on to a purchase, or changes its quantity. Within the period, the difference for the rest of it is charged to the saved card, and the purchase is replaced by one that continues its period, as by a change of plan. Repeating the request is safe.',
  removeAddOn:
    'Removes an add-on with the next renewal, or now with a credit for the rest of the period. An add-on that raises limits or included units is only removed with the renewal.',
  activatePlan:
    'Starts a plan for a customer at once if it needs no payment and no card, or if the credit of the customer pays all of it. Otherwise the answer has a `checkoutUrl` where the customer pays or saves a card.',
  listPurchases: 'Returns all purchases that match the filters, newest first.',
  getPurchase: 'Returns a purchase with its status, its periods and the terms of its plan.',
  listCustomerPurchases: 'Returns all purchases of a customer, newest first.',
  listProductPurchases: 'Returns all purchases of a product, newest first.',
  listPurchasesByPage: 'Returns purchases page by page, newest first, for lists in a console.',
  cancelPurchase:
    'Cancels a purchase. A recurring purchase stays active until the end of its paid period, and ends one period later if the notice period of the plan has passed. Any other purchase ends at once.',
  reactivatePurchase:
    'Withdraws the cancellation of a purchase whose paid period has not ended. The purchase renews again.',
  previewInvoice:
    'Returns the invoices of the running period of a purchase before they exist: its usage so far, or the usage of the request, the price of the next period, tax, and what is carried from one invoice to the next. Computed by the functions that bill. Nothing is stored.',
  previewPlanChange:
    'Returns what a change to another plan of the product would charge or credit today, when it would begin, what is lost, and the invoices that follow: the last bill of the plan before, and the next one of the new plan. A change that would be refused has the status and message of the refusal. Nothing is stored.',
  previewCancellation:
    'Returns when a purchase would end if it were cancelled now, and the invoices that would follow. A cancellation pays nothing back. Nothing is stored.',
  createCheckoutSession:
    'Opens a hosted checkout and returns its link, which expires after 15 minutes. Without `planRef` the customer chooses a plan. The same `Idempotency-Key` returns the same link.',
  bootstrapMcpProduct:
    'Creates a product for an MCP server: reads the tools of the server at `originUrl`, and creates the plans and which tools each plan includes. Refusals have a `code` of the MCP product.',
  configureMcpPlans:
    'Replaces the plans of an MCP product and which tools each plan includes. Purchases keep their terms.',
  discoverMcpTools:
    'Reads the list of tools from the MCP server of a product again. Returns the tools, and which were added and removed.',
  listMeters: 'Returns all meters of the provider. `requests` is built in and counts calls.',
  createMeter:
    'Creates a meter. The name cannot be changed, and is unique for the provider. Without `event` the meter counts the meter events that name it. With `event` it reads all events of the type whose properties match `where`: the value at a JSON pointer, the sum of several, or 1.',
  getMeter: 'Returns a meter with its unit, its aggregation and its status.',
  updateMeter:
    'Changes the names of a meter, or archives it. An archived meter keeps its records. A change of what a meter reads is a new version, which applies to events that are received after it.',
  getMeterUsage:
    'Returns the usage of a meter from `from` (inclusive) to `to` (exclusive). It sees every record that was accepted before the request. If those are not stored within the wait, the answer is 503 with `Retry-After`. `groupBy` returns groups by dimensions of a meter that reads events, `top` the largest of them, and `filter` selects records. `format` or `Accept` selects CSV or Parquet, with a row for each group and bucket that has records. An unknown parameter is a 400.',
  getMeterUsageByShortPath:
    'Returns the same as `GET /v1/ui/meters/{meterRef}/usage`, under the path that some clients use. Unknown parameters are ignored.',
  getMerchant:
    'Returns what customers see of the provider: name, legal name, support, links, logo and currency.',
  updateMerchant:
    'Changes what customers see of the provider on hosted pages and invoices. The default currency is fixed after the first payment.',
  uploadMerchantPicture:
    'Stores the logo or the icon that hosted pages show. The body is the picture itself, as PNG, JPEG, WebP or GIF.',
  getMerchantPicture:
    'Returns a logo or icon by the SHA-256 of its content. Needs no key, and may be cached forever.',
  getPlatformConfig:
    'Returns the publishable key of the payment processor, which a payment form in a browser needs.',
  listInvoices:
    'Returns invoices page by page, newest first, filtered by customer, status or time.',
  getInvoice:
    'Returns an invoice with its lines, its tax, its payments and its refunds. Each line has the inputs that its amount was computed from.',
  creditInvoice:
    'Issues a credit note for part of an invoice, with the tax of that part. It reduces what is due on an open invoice. On a paid one it credits the next invoice of the customer. The reason is printed on the note. Once nothing is due, the purchase continues as after a payment.',
  voidInvoice:
    'Voids an open invoice of which nothing is settled, as if it had never been issued. Its usage is not charged again. A purchase that was past due because of it continues.',
  writeOffInvoice:
    'Gives up what is due on an open invoice. It becomes `uncollectible`, and the purchase continues. The customer still owes it: a later payment is accepted, and no other plan starts before.',
  recordOutsidePayment:
    'Records that an invoice, or part of it, was paid without the payment processor, for example by bank transfer. Use it for invoices that are held because they exceed one charge. What is left of a held invoice is charged as soon as it fits into one charge.',
  getCustomerBalance:
    'Returns what the next invoices of the customer take over in each currency, and the changes of it, newest first: credits of credit notes, refunds and cheaper plans, and amounts that were too small to be charged.',
  listBalancePayouts:
    'Returns what was paid out of the balance of a customer, newest first, with the current state of each refund. The amount of a refund that failed or was refused is in the balance again.',
  payOutBalance:
    'Pays out the credit of a customer: as refunds of past card payments, the newest first and up to what these took, or as a record that it was paid by other means. What a refund does not pay is in the balance again. The balance of a deleted customer can be paid out too.',
  issueInvoice:
    'Issues an invoice of the given lines to a customer, with the tax of the customer. It uses the credit of the customer and is charged like other invoices, when it is due.',
  listCoupons: 'Returns coupons page by page, newest first, or the one with a code.',
  createCoupon:
    'Creates a coupon: a percentage or an amount that is taken off the invoices of customers who redeem it. What it takes off cannot change afterwards.',
  getCoupon: 'Returns a coupon, with the number of its redemptions.',
  updateCoupon:
    'Changes the name of a coupon, its limits and the end of its redemption. Discounts that customers have stay as they are.',
  archiveCoupon:
    'Archives a coupon, so that it is not redeemed any more. Discounts that customers have continue. Its code stays taken.',
  listDiscounts: 'Returns the discounts of a customer, newest first, with those that have ended.',
  addDiscount:
    'Redeems a coupon for a customer. The discount begins with the next invoice, of one purchase or of all purchases of the customer.',
  removeDiscount:
    'Ends a discount from the next invoice on. Invoices that were issued stay as they are.',
  listInvoiceItems: 'Returns the items that the next invoice of the customer will charge.',
  addInvoiceItem:
    'Adds a line to the next invoice of the customer in the currency that charges a period or usage. The tax of the customer is added there.',
  removeInvoiceItem:
    'Removes an item that no invoice charges yet, and returns the items that are left.',
  changeInvoiceDueDate:
    'Changes when an open invoice is to be paid. The card is charged at that time. A payment that is in progress is not stopped.',
  holdInvoice:
    'Holds an open invoice: the card is not charged until the invoice is released. The customer can still pay it.',
  releaseInvoice:
    'Releases a held invoice, so that the card is charged when it is due. An invoice that exceeds one charge stays held until a part is paid or credited.',
  refundInvoice:
    'Returns what was paid of an invoice, in full or in part, to the card that paid it or to the balance of the customer, which pays the next invoice. A full refund ends what the invoice paid for, and takes unused credits back. A refund to the card is `pending` until the payment processor has made it. The reason is printed on the credit note of a refund to the balance.',
  chargeInvoice:
    'Charges the saved card of the customer for what is due on an open invoice, outside of the retry schedule. A failure is not counted towards suspension. Repeating the request is safe, because an invoice is paid at most once.',
  getCreditNotePdf: 'Returns a credit note of an invoice as a PDF.',
  getInvoicePdf: 'Returns an invoice as a PDF, which is the receipt once it is paid.',
  listBillingRuns: 'Returns what the scheduled billing jobs did, newest first.',
  listReconciliations:
    "Returns comparisons of Tollgate's records with the payment processor and with the raw usage records, newest first.",
  getReconciliation: 'Returns one comparison with every difference that it found.',
}
