import {
  apiKeyCreateSchema,
  apiKeyRotateSchema,
  apiKeySchema,
  apiKeysResponseSchema,
  issuedApiKeySchema,
  type ApiKeyBody,
} from '../api-keys.ts'
import { auditLogResponseSchema } from '../audit-log.ts'
import { billingRunsResponseSchema } from '../billing-runs.ts'
import { reconciliationSchema, reconciliationsPageSchema } from '../reconciliations.ts'
import {
  assetAddressSchema,
  merchantSchema,
  merchantUpdateSchema,
  platformConfigSchema,
  type MerchantBody,
} from '../merchants.ts'
import { examplesOf } from './example.ts'
import { hosted, instants, refs } from './story.ts'

const reconciliation = {
  reference: 'rec_8N4QZ1T7XW2K',
  startedAt: '2026-03-15T03:00:00.180Z',
  finishedAt: '2026-03-15T03:00:09.410Z',
  comparedFrom: '2026-03-08T03:00:00.000Z',
  comparedTo: '2026-03-15T02:45:00.000Z',
  compared: { payment: 412, refund: 3, invoice: 390, wallet: 57 },
  gaps: [],
  found: 1,
  repaired: 1,
}

export const pictureSha256 = '9f2b6d0c4e8a1735b9d1f3e5a7c9081b2d4f6e8a0c1b3d5f7e9a2c4b6d8f0e1a'

const logoUrl = `${hosted}/v1/files/public/provider-assets/${pictureSha256}`

const merchant: MerchantBody = {
  name: 'Acme',
  displayName: 'Acme',
  legalName: 'Acme Search Ltd',
  supportContact: 'help@acme.example',
  supportEmail: 'help@acme.example',
  termsUrl: 'https://acme.example/terms',
  privacyUrl: 'https://acme.example/privacy',
  country: 'GB',
  address: '1 Canal Street\nLondon N1 9XY',
  accentColor: '#0f766e',
  vatNumber: 'GB123456789',
  defaultCurrency: 'USD',
  supportedTopupCurrencies: ['USD', 'EUR'],
  statementDescriptor: 'ACME SEARCH',
  logoUrl,
}

const key: ApiKeyBody = {
  keyId: refs.key,
  environment: 'sandbox',
  name: 'Gateway',
  scopes: ['ingest', 'read'],
  last4: 'x7Qd',
  status: 'active',
  createdAt: instants.created,
}
const issued = {
  ...key,
  secretKey: 'sk_sandbox_00000000000000000000000000000000000000000000x7Qd',
}

export const providerExamples = {
  getMerchant: { answer: examplesOf(merchantSchema, { Acme: merchant }) },
  updateMerchant: {
    body: examplesOf(merchantUpdateSchema, {
      'Where to ask': { supportEmail: 'help@acme.example', supportUrl: null },
      'Name, colour and address': {
        name: 'Acme',
        accentColor: '#0f766e',
        address: '1 Canal Street\nLondon N1 9XY',
      },
      'Top-ups in euros too': { supportedTopupCurrencies: ['USD', 'EUR'] },
      'Links to own hosts only': { allowedLinkHosts: ['acme.example', '*.acme.example'] },
    }),
    answer: examplesOf(merchantSchema, { Acme: merchant }),
  },
  uploadMerchantPicture: { answer: examplesOf(assetAddressSchema, { Kept: { url: logoUrl } }) },
  getPlatformConfig: {
    answer: examplesOf(platformConfigSchema, {
      'With payments': { stripePublishableKey: 'pk_test_51SAMPLE' },
      Without: {},
    }),
  },
  listApiKeys: {
    answer: examplesOf(apiKeysResponseSchema, {
      'One in use, one revoked': {
        apiKeys: [
          key,
          {
            ...key,
            keyId: 'key_1BX6QV8ZM3WT',
            last4: 'p0Wn',
            status: 'revoked',
            revokedAt: instants.changed,
          },
        ],
      },
    }),
  },
  createApiKey: {
    body: examplesOf(apiKeyCreateSchema, {
      'For a gateway': { name: 'Gateway', scopes: ['ingest', 'read'] },
      'Until the end of 2030': { name: 'Trial run', expiresAt: '2031-01-01T00:00:00.000Z' },
    }),
    answer: examplesOf(issuedApiKeySchema, { 'The secret is told once': issued }),
  },
  rotateApiKey: {
    body: examplesOf(apiKeyRotateSchema, {
      'Two days for both': { overlapHours: 48 },
      'At once': { overlapHours: 0 },
    }),
    answer: examplesOf(issuedApiKeySchema, { 'The successor': issued }),
  },
  revokeApiKey: {
    answer: examplesOf(apiKeySchema, {
      Revoked: { ...key, status: 'revoked', revokedAt: instants.now },
    }),
  },
  listAuditEntries: {
    answer: examplesOf(auditLogResponseSchema, {
      'A price was changed': {
        entries: [
          {
            id: 'sandbox-1842',
            at: instants.now,
            environment: 'sandbox',
            actor: `user:${refs.user}`,
            operation: 'PUT /v1/ui/products/:productRef/plans/:planRef',
            requestId: 'req_5d0c7e9a1b3f4c6d8e2a4b6c8d0e1f2a',
            ip: '203.0.113.7',
            kind: 'plans',
            reference: refs.proPlan,
            action: 'update',
            changedColumns: ['price', 'updated_at'],
            beforeSha256: '1c7d5e9f3b8a2046d1f0c9e8b7a6958473625140f1e2d3c4b5a69788796a5b4c',
            afterSha256: 'a3f1d9c7b5e2084613579bdf02468ace13579bdf02468ace13579bdf02468ace',
          },
        ],
        next: null,
      },
    }),
  },
  listBillingRuns: {
    answer: examplesOf(billingRunsResponseSchema, {
      'One renewal failed for now': {
        runs: [
          {
            job: 'renewals',
            slot: '2026-03-14T10:00:00.000Z',
            startedAt: '2026-03-14T10:00:00.210Z',
            endedAt: '2026-03-14T10:00:04.870Z',
            counts: { done: 41, postponed: 1, failed: 0 },
            failure: 'The payment processor did not answer in time',
          },
        ],
        total: 1,
        limit: 50,
        offset: 0,
      },
    }),
  },
  listReconciliations: {
    answer: examplesOf(reconciliationsPageSchema, {
      'A webhook that was lost': {
        reconciliations: [reconciliation],
        total: 1,
        limit: 50,
        offset: 0,
      },
    }),
  },
  getReconciliation: {
    answer: examplesOf(reconciliationSchema, {
      'A webhook that was lost': {
        ...reconciliation,
        findings: [
          {
            kind: 'refund',
            difference: 'missing_here',
            reference: 're_3PqLw2A7sKd81hTz0f9Vb6Nc',
            theirs: 'succeeded 1900 USD',
            since: '2026-03-14T09:12:44.000Z',
            repaired: true,
          },
        ],
      },
    }),
  },
}
