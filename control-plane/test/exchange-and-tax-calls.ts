type Send = (path: string, body: unknown, method?: string) => Promise<Record<string, string>>

/** Returns a request for each route that changes exchange rates, tax details or the tax service. Earlier requests create the customer. */
export function exchangeAndTaxCalls(
  send: Send,
): Record<string, (path: string) => Promise<unknown>> {
  return {
    'PUT /v1/ui/exchange-rates/:currency': (path) => send(path, { unitsPerDollar: '0.9' }, 'PUT'),
    'DELETE /v1/ui/exchange-rates/:currency': (path) => send(path, undefined, 'DELETE'),
    'PUT /v1/ui/customers/:reference/tax-details': (path) =>
      send(path, { isBusiness: true, country: 'DE', taxId: 'DE123456789' }, 'PUT'),
    'PUT /v1/ui/customers/:reference/tax-id-check': (path) =>
      send(path, { taxId: 'DE123456789', status: 'invalid', reason: 'asked by phone' }, 'PUT'),
    'DELETE /v1/ui/customers/:reference/tax-id-check': (path) => send(path, undefined, 'DELETE'),
    'PUT /v1/ui/tax-service': (path) => send(path, { url: 'https://tax.example.com/rates' }, 'PUT'),
    'DELETE /v1/ui/tax-service': (path) => send(path, undefined, 'DELETE'),
  }
}
