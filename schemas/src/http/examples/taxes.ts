import {
  taxDetailsResponseSchema,
  taxDetailsUpdateSchema,
  taxIdDecisionSchema,
  type TaxDetailsResponseBody,
} from '../tax-details.ts'
import { taxServiceResponseSchema, taxServiceUpdateSchema } from '../tax-service.ts'
import { examplesOf } from './example.ts'
import { customer, instants } from './story.ts'

const details: TaxDetailsResponseBody = {
  taxDetails: {
    isBusiness: true,
    businessName: 'Ada GmbH',
    customerName: null,
    country: 'DE',
    region: null,
    taxId: 'DE123456789',
    taxIdType: 'eu_vat',
    address: 'Hauptstr. 1\n10115 Berlin',
    email: customer.email,
  },
  taxIdCheck: {
    status: 'valid',
    source: 'register',
    checkedAt: instants.created,
    registeredName: 'Ada GmbH',
    registeredAddress: 'Hauptstr. 1\n10115 Berlin',
    consultationNumber: 'WAPIAAAAX3xQ7Z2B',
    reason: null,
  },
}

const taxService = {
  url: 'https://tax.example.com/rates',
  onFailure: 'hold',
  createdAt: instants.created,
  updatedAt: instants.created,
} as const

const answer = examplesOf(taxDetailsResponseSchema, { 'A business in the EU': details })

export const taxExamples = {
  getTaxDetails: { answer },
  setTaxDetails: {
    body: examplesOf(taxDetailsUpdateSchema, {
      'A business in the EU': {
        isBusiness: true,
        country: 'DE',
        businessName: 'Ada GmbH',
        taxId: 'DE123456789',
        address: 'Hauptstr. 1\n10115 Berlin',
      },
      'A consumer in Canada': { isBusiness: false, country: 'CA', region: 'ON' },
    }),
    answer,
  },
  decideTaxId: {
    body: examplesOf(taxIdDecisionSchema, {
      'Known to be valid': {
        taxId: 'DE123456789',
        ...{ status: 'valid', reason: 'Certificate of registration of 2 March' },
      },
    }),
    answer: examplesOf(taxDetailsResponseSchema, {
      'Known to be valid': {
        ...details,
        taxIdCheck: {
          ...{ status: 'valid', source: 'person', checkedAt: instants.created },
          ...{ registeredName: null, registeredAddress: null, consultationNumber: null },
          reason: 'Certificate of registration of 2 March',
        },
      },
    }),
  },
  forgetTaxIdCheck: {
    answer: examplesOf(taxDetailsResponseSchema, {
      'To be looked up again': { ...details, taxIdCheck: null },
    }),
  },
  getTaxService: {
    answer: examplesOf(taxServiceResponseSchema, { 'A tax service': { taxService } }),
  },
  setTaxService: {
    body: examplesOf(taxServiceUpdateSchema, {
      'The first time': { url: 'https://tax.example.com/rates' },
      'Built-in rates while it is down, and another secret': {
        ...{ url: 'https://tax.example.com/rates', onFailure: 'built_in', newSecret: true },
      },
    }),
    answer: examplesOf(taxServiceResponseSchema, {
      'With the secret': {
        taxService,
        secret: 'whsec_0000000000000000000000000000000000000000000000000000000000000000',
      },
    }),
  },
  deleteTaxService: {
    answer: examplesOf(taxServiceResponseSchema, { 'The built-in rates': { taxService: null } }),
  },
}
