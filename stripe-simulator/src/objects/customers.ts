import { invalid } from '../errors.ts'
import { newId, type UnitOfWork } from '../store/unit-of-work.ts'
import { changedMetadata, type MetadataChange } from './metadata.ts'
import type { Customer } from '../store/records.ts'
import { emit } from './event-log.ts'

export type CustomerChange = {
  readonly email?: string | undefined
  readonly name?: string | undefined
  readonly description?: string | undefined
  readonly metadata?: MetadataChange | undefined
  readonly invoice_settings?: { readonly default_payment_method?: string | undefined } | undefined
}

export function createCustomer(work: UnitOfWork, change: CustomerChange): Customer {
  const blank: Customer = {
    id: newId('cus_'),
    object: 'customer',
    balance: 0,
    created: work.now,
    currency: null,
    default_source: null,
    delinquent: false,
    description: null,
    email: null,
    invoice_settings: {
      custom_fields: null,
      default_payment_method: null,
      footer: null,
      rendering_options: null,
    },
    livemode: work.mode === 'live',
    metadata: {},
    name: null,
    shipping: null,
  }
  const customer = changed(work, blank, change)
  work.add('customer', customer)
  emit(work, 'customer.created', customer)
  return customer
}

export function updateCustomer(work: UnitOfWork, id: string, change: CustomerChange): Customer {
  const customer = changed(work, requireCustomer(work, id), change)
  work.put('customer', customer)
  emit(work, 'customer.updated', customer)
  return customer
}

/** Deletes a customer and detaches its cards. */
export function deleteCustomer(work: UnitOfWork, id: string): object {
  const customer = requireCustomer(work, id)
  for (const method of work.list('payment_method', id)) {
    if (method.customer !== id) continue
    const simulator = { ...method.simulator, isUsedUp: true }
    work.put('payment_method', { ...method, customer: null, simulator })
  }
  work.put('customer', { ...customer, deleted: true })
  emit(work, 'customer.deleted', customer)
  return { id, object: 'customer', deleted: true }
}

export function requireCustomer(work: UnitOfWork, id: string, param?: string): Customer {
  const customer = work.require('customer', id, param)
  if (customer.deleted === true) {
    throw invalid(`No such customer: '${id}'`, {
      code: 'resource_missing',
      param: param ?? 'id',
    })
  }
  return customer
}

function changed(work: UnitOfWork, customer: Customer, change: CustomerChange): Customer {
  const methodId = change.invoice_settings?.default_payment_method
  if (methodId !== undefined && methodId !== '') {
    const method = work.require(
      'payment_method',
      methodId,
      'invoice_settings[default_payment_method]',
    )
    if (method.customer !== customer.id) {
      throw invalid('The customer does not have a payment method with the ID ' + methodId + '.', {
        code: 'resource_missing',
        param: 'invoice_settings[default_payment_method]',
      })
    }
  }
  return {
    ...customer,
    ...(change.email !== undefined && { email: change.email || null }),
    ...(change.name !== undefined && { name: change.name || null }),
    ...(change.description !== undefined && { description: change.description || null }),
    metadata: changedMetadata(customer.metadata, change.metadata),
    ...(methodId !== undefined && {
      invoice_settings: { ...customer.invoice_settings, default_payment_method: methodId || null },
    }),
  }
}
