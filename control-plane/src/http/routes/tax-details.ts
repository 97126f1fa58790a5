import { z } from 'zod'
import { lookUpEnteredTaxId } from '@tollgate/domain/charging/tax-payment'
import type { PaymentParts } from '@tollgate/domain/payments/payment-parts'
import type { TaxDetails } from '@tollgate/domain/tax/tax-details'
import { changeTaxDetails, findTaxDetails } from '@tollgate/domain/tax/tax-details-repository'
import { checkByPerson, type TaxIdCheck } from '@tollgate/domain/tax/tax-id-check'
import {
  findTaxIdCheck,
  removeTaxIdCheck,
  saveTaxIdCheck,
} from '@tollgate/domain/tax/tax-id-checks-repository'
import type { Queryable } from '@tollgate/platform/database/database'
import { requiredReference } from '@tollgate/schemas/http/fields'
import {
  taxDetailsResponseSchema,
  taxDetailsUpdateSchema,
  taxIdDecisionSchema,
  type TaxDetailsResponseBody,
} from '@tollgate/schemas/http/tax-details'
import type { ApiServer } from '../../access/api-server.ts'
import { callerOf, operationOf, type Caller } from '../../access/caller.ts'
import { commit, type ChangeParts } from '../../access/commit.ts'
import { read } from '../../access/read.ts'
import { getCustomer, requireCustomer } from '../../access/require.ts'
import { invalidField, refusals } from '../../errors.ts'

const tags = ['Customers']
const params = z.object({ reference: requiredReference })
const response = { 200: taxDetailsResponseSchema }

type Parts = ChangeParts & { readonly payments: PaymentParts }

/** Registers the routes of a customer's tax details, and of what a person knows about its tax id. */
export function registerTaxDetailsRoutes(app: ApiServer, parts: Parts): void {
  const path = '/v1/ui/customers/:reference/tax-details'
  app.get(path, { schema: { tags, params, response } }, (request) => {
    const caller = callerOf(request)
    return read(parts, caller, async (sql) => {
      const { reference } = await getCustomer(sql, caller, request.params.reference)
      return readTaxDetails(sql, caller, reference)
    })
  })

  app.put(
    path,
    { schema: { tags, params, body: taxDetailsUpdateSchema, response } },
    async (request) => {
      const operation = operationOf(request, parts.clock)
      const { reference } = await requireCustomer(parts, operation, request.params.reference)
      const { country, ...fields } = request.body
      const entered = { ...fields, country, customerCountry: country }
      // The register may take seconds, so it is asked before the customer is locked.
      await lookUpEnteredTaxId(parts.payments, operation, entered)
      return commit(parts, operation, async (work) => {
        const decision = await changeTaxDetails(work, reference, entered)
        if (decision.kind === 'refuse') {
          const field = decision.field === 'customerCountry' ? 'country' : decision.field
          throw invalidField(field, decision.reason)
        }
        return readTaxDetails(work.sql, operation, reference)
      })
    },
  )

  registerTaxIdDecision(app, parts)
}

function registerTaxIdDecision(app: ApiServer, parts: Parts): void {
  const path = '/v1/ui/customers/:reference/tax-id-check'
  app.put(
    path,
    { schema: { tags, params, body: taxIdDecisionSchema, response } },
    async (request) => {
      const operation = operationOf(request, parts.clock)
      const { status, reason, ...decided } = request.body
      return commit(parts, operation, async ({ sql, providerId, now }) => {
        const { reference } = await getCustomer(sql, operation, request.params.reference)
        const taxId = await requireTaxId(sql, providerId, reference)
        // The customer may have entered another one since the person looked.
        if (decided.taxId !== taxId) throw refusals.customerWithoutTaxId(reference, decided.taxId)
        await saveTaxIdCheck(sql, providerId, checkByPerson(taxId, status, reason, now))
        return readTaxDetails(sql, operation, reference)
      })
    },
  )

  app.delete(path, { schema: { tags, params, response } }, async (request) => {
    const operation = operationOf(request, parts.clock)
    return commit(parts, operation, async ({ sql, providerId }) => {
      const { reference } = await getCustomer(sql, operation, request.params.reference)
      await removeTaxIdCheck(sql, providerId, await requireTaxId(sql, providerId, reference))
      return readTaxDetails(sql, operation, reference)
    })
  })
}

async function requireTaxId(
  sql: Queryable,
  providerId: string,
  customerRef: string,
): Promise<string> {
  const { taxId = null } = (await findTaxDetails(sql, providerId, customerRef)) ?? {}
  if (taxId === null) throw refusals.customerWithoutTaxId(customerRef)
  return taxId
}

async function readTaxDetails(
  sql: Queryable,
  { providerId }: Pick<Caller, 'providerId'>,
  customerRef: string,
): Promise<TaxDetailsResponseBody> {
  const details = await findTaxDetails(sql, providerId, customerRef)
  const { taxId = null } = details ?? {}
  const check = taxId === null ? undefined : await findTaxIdCheck(sql, providerId, taxId)
  return {
    taxDetails: details === undefined ? null : detailsToHttp(details),
    taxIdCheck: check === undefined ? null : checkToHttp(check),
  }
}

function detailsToHttp(details: TaxDetails): NonNullable<TaxDetailsResponseBody['taxDetails']> {
  const { region = null, address = null, email = null, ...fields } = details
  return { ...fields, region, address, email }
}

function checkToHttp(check: TaxIdCheck): NonNullable<TaxDetailsResponseBody['taxIdCheck']> {
  const { status, source, checkedAt, registeredName, registeredAddress } = check
  const { consultationNumber, reason } = check
  return {
    status,
    source,
    checkedAt: checkedAt.toISOString(),
    registeredName,
    registeredAddress,
    consultationNumber,
    reason,
  }
}
