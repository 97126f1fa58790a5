import { invalid } from '../errors.ts'
import { newId, type World } from '../store/world.ts'
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

export function createCustomer(world: World, change: CustomerChange): Customer {
  const blank: Customer = {
    id: newId('cus_'),
    object: 'customer',
    balance: 0,
    created: world.now,
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
    livemode: world.mode === 'live',
    metadata: {},
    name: null,
    shipping: null,
  }
  const customer = changed(world, blank, change)
  world.add('customer', customer)
  emit(world, 'customer.created', customer)
  return customer
}

export function updateCustomer(world: World, id: string, change: CustomerChange): Customer {
  const customer = changed(world, requireCustomer(world, id), change)
  world.put('customer', customer)
  emit(world, 'customer.updated', customer)
  return customer
}

/** Deletes a customer and detaches its cards. */
export function deleteCustomer(world: World, id: string): object {
  const customer = requireCustomer(world, id)
  for (const method of world.list('payment_method', id)) {
    if (method.customer !== id) continue
    const simulator = { ...method.simulator, isUsedUp: true }
    world.put('payment_method', { ...method, customer: null, simulator })
  }
  world.put('customer', { ...customer, deleted: true })
  emit(world, 'customer.deleted', customer)
  return { id, object: 'customer', deleted: true }
}

export function requireCustomer(world: World, id: string, param?: string): Customer {
  const customer = world.require('customer', id, param)
  if (customer.deleted === true) {
    throw invalid(`No such customer: '${id}'`, {
      code: 'resource_missing',
      param: param ?? 'id',
    })
  }
  return customer
}

function changed(world: World, customer: Customer, change: CustomerChange): Customer {
  const wanted = change.invoice_settings?.default_payment_method
  if (wanted !== undefined && wanted !== '') {
    const method = world.require(
      'payment_method',
      wanted,
      'invoice_settings[default_payment_method]',
    )
    if (method.customer !== customer.id) {
      throw invalid('The customer does not have a payment method with the ID ' + wanted + '.', {
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
    ...(wanted !== undefined && {
      invoice_settings: { ...customer.invoice_settings, default_payment_method: wanted || null },
    }),
  }
}
