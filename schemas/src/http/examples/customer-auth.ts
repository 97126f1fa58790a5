import {
  agentClientCreateSchema,
  agentClientSchema,
  clientRegistrationSchema,
  customerLinkCreateSchema,
  customerLinkSchema,
  oauthErrorSchema,
  registeredClientSchema,
  revokedSchema,
  signedInCustomerSchema,
  tokensSchema,
} from '../customer-auth.ts'
import { examplesOf } from './example.ts'
import { customer, instants, refs } from './story.ts'

const client = {
  client_name: 'Acme Assistant',
  redirect_uris: ['http://127.0.0.1/callback'],
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
  token_endpoint_auth_method: 'none',
} as const

const resource = 'https://acme-tools.mcp.billing.acme.example/mcp'

export const customerAuthExamples = {
  registerCustomerClient: {
    body: examplesOf(clientRegistrationSchema, {
      'An application on the machine of its user': {
        ...client,
        redirect_uris: [...client.redirect_uris],
        grant_types: [...client.grant_types],
        response_types: [...client.response_types],
      },
    }),
    answer: examplesOf(registeredClientSchema, {
      Registered: {
        ...client,
        redirect_uris: [...client.redirect_uris],
        grant_types: [...client.grant_types],
        response_types: [...client.response_types],
        client_id: 'V1StGXR8_Z5jdHi6B-myT',
        client_id_issued_at: 1_772_452_800,
      },
    }),
  },
  getCustomerTokens: {
    answer: examplesOf(tokensSchema, {
      'Of a code': {
        access_token: 'eyJhbGciOiJFUzI1NiIsInR5cCI6ImF0K2p3dCJ9.eyJzdWIiOiJjdXNfIn0.c2ln',
        token_type: 'Bearer',
        expires_in: 900,
        refresh_token: 'S2x9mB0c1dPq7vTz',
        scope: 'openid profile email',
      },
    }),
  },
  revokeCustomerToken: {
    answer: examplesOf(revokedSchema, {
      Revoked: { revoked: true, message: 'The token is no longer valid.' },
    }),
  },
  getSignedInCustomer: {
    answer: examplesOf(signedInCustomerSchema, {
      'With the scopes email and profile': {
        sub: refs.customer,
        customerRef: refs.customer,
        email: customer.email,
        name: 'Ada Lovelace',
      },
    }),
  },
  createCustomerLink: {
    body: examplesOf(customerLinkCreateSchema, {
      'To the checkout of a plan': {
        customerRef: refs.customer,
        productRef: refs.product,
        purpose: 'checkout',
        planRef: refs.proPlan,
      },
    }),
    answer: examplesOf(customerLinkSchema, {
      'For an hour': {
        url: 'https://billing.acme.example/customer/connect/5yK2mQ8tRz1vXw4nLb7cDg',
        expiresAt: instants.created,
      },
    }),
  },
  createAgentClient: {
    body: examplesOf(agentClientCreateSchema, {
      'An agent of a customer': {
        customerRef: refs.customer,
        productRef: refs.product,
        name: 'Nightly report',
      },
    }),
    answer: examplesOf(agentClientSchema, {
      Created: {
        clientId: 'agent_4f8Qm2Zr7Xv1',
        clientSecret: 'nq3v0J9x5kT7wB2yLr8mZ4cP6dS1fH0a',
        customerRef: refs.customer,
        tokenUrl: 'https://acme-tools.mcp.billing.acme.example/oauth/token',
        resource,
      },
    }),
  },
}

/** The error response of every operation that OAuth defines. */
export const oauthErrorExamples = examplesOf(oauthErrorSchema, {
  'A redirect URI that is not allowed': {
    error: 'invalid_redirect_uri',
    error_description: 'https://example.org/cb leads to a host that is not allowed here',
  },
  'A code that was used': { error: 'invalid_grant', error_description: 'grant request is invalid' },
})
