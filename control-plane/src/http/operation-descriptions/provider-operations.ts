/** Descriptions of the operations about webhooks, keys and the console, by operation id. */
export const providerOperations: Readonly<Record<string, string>> = {
  listEvents:
    'Returns the events of the provider page by page, newest first: what webhooks deliver.',
  getEvent: 'Returns an event with its payload.',
  listWebhookEndpoints: 'Returns the webhook endpoints of the environment, with their status.',
  createWebhookEndpoint:
    'Registers a URL that events are posted to, all types or the given ones. Only this answer holds the signing secret: store it with the receiver.',
  getWebhookEndpoint:
    'Returns an endpoint with its status, its number of failures and the ids of its signing secrets.',
  updateWebhookEndpoint:
    'Changes the fields that the request holds. A disabled endpoint receives nothing until it is enabled again.',
  deleteWebhookEndpoint: 'Deletes an endpoint and its signing secrets. Deliveries to it stop.',
  rotateWebhookSecret:
    'Creates another signing secret. The old secret signs beside the new one until it expires, and its signature comes first until the new secret is promoted.',
  promoteWebhookSecret:
    'Puts the signature of the newest secret first. Call it once the receiver knows the new secret.',
  testWebhookEndpoint:
    'Sends a sample `payment.succeeded` event to an endpoint and returns its response.',
  listWebhookDeliveries:
    'Returns deliveries with their attempts page by page, newest first. Filter by endpoint, status or event type to find failures.',
  getWebhookDelivery: 'Returns a delivery with the response of the endpoint to each attempt.',
  replayWebhookDelivery:
    'Sends the event of a delivery to its endpoint again, as a new delivery with an id of its own.',
  listWebhookReplays: 'Returns replays of many deliveries, newest first.',
  createWebhookReplay:
    'Sends again what an endpoint was sent in a time range, or everything that it never accepted. The replay runs in the background.',
  getWebhookReplay:
    'Returns a replay with its state and the number of deliveries that it has queued.',
  cancelWebhookReplay: 'Stops a replay. Deliveries that are queued already are sent.',
  listEventTypes: 'Returns every event type that webhooks can deliver, with its description.',
  getSampleEvent: 'Returns a sample event of a type, as webhooks send it.',
  getEmailSettings:
    'Returns which emails customers get, their sender and language, and where emails of this installation go.',
  updateEmailSettings:
    'Changes which emails customers get, and their sender and language. No email is sent until its kind is listed in `kinds`. Events from before are not sent.',
  previewEmail:
    'Returns the subject, text and HTML of a kind of email with the brand of the provider, about a customer and a plan that do not exist. Sends nothing.',
  listEmails:
    'Returns emails to customers page by page, newest first, filtered by kind, state or customer.',
  getEmail: 'Returns an email to a customer with its state. Its text is not stored.',
  resendEmail:
    'Sends an email again whose state is `unknown`, `failed` or `skipped`, with the same Message-ID. If the mail server accepted an `unknown` email after all, the customer may get it twice.',
  listEmailSuppressions: 'Returns the addresses that get no emails, newest first.',
  suppressEmail:
    'Stops emails to an address. If it is suppressed already, the answer has the existing suppression.',
  removeEmailSuppression:
    'Removes a suppression, so that the address gets emails again. Emails that were skipped are not sent.',
  listApiKeys:
    'Returns the secret keys of the environment with their scopes and status. Only a hash of each key is stored, so a key cannot be shown again.',
  createApiKey:
    'Creates a secret key for the environment of the caller. Only this answer holds the key.',
  rotateApiKey:
    'Creates a replacement for a secret key. The old key works for `overlapHours` more, 24 by default. Only this answer holds the new key.',
  revokeApiKey: 'Revokes a secret key. Every node refuses it within 5 seconds.',
  listAuditEntries:
    'Returns who changed what, when and from which address, newest first. Entries cannot be changed or deleted.',
  signIn:
    'Returns an access token for `/v1/ui/...` in one environment. If the email belongs to users of several providers with the same password, the answer asks which provider. A cookie marks the browser as known, so that wrong passwords tried elsewhere do not block it.',
  setPassword:
    'Sets the password of the user that a one-time link was made for, and ends all sessions of the user.',
  changePassword:
    'Changes the password of the signed-in user, ends all sessions of the user, and returns a new access token.',
  getSignedInUser: 'Returns the signed-in user with its provider, role and environment.',
  switchEnvironment:
    'Returns another access token of the same sign-in for the other environment. It ends when the first token ends.',
  signOut: 'Ends the sign-in of the access token, with every token that belongs to it.',
  listUsers: 'Returns the console users of the provider with their roles.',
  inviteUser:
    'Creates a console user and returns a one-time link, with which the user sets a password.',
  updateUser: 'Changes the role or the name of a console user. The last owner keeps that role.',
  removeUser: 'Removes a console user and ends all sessions of the user.',
  createPasswordLink:
    'Returns a one-time link with which a console user sets a new password. Earlier links of the user stop working.',
  openCliSession:
    'Starts the request of a command line for a secret key. Returns a link that a console user opens to approve it, and a poll token to fetch the key with.',
  exchangeCliSession:
    'Returns the status `pending` until a console user has decided, and then the secret key. The key is returned once. Needs the poll token of the session.',
  completeCliSession: 'Approves the session of a command line: it can fetch a secret key.',
  cancelCliSession: 'Refuses the session of a command line. It gets no key.',
  getOverview:
    'Returns the numbers of your business: customers, purchases and products, usage, credits and revenue of 30 days by day, monthly recurring revenue, and what needs attention. Usage of the last seconds may be missing.',
  getApiDescription:
    'Returns this description of the API as an OpenAPI 3.1 document. Needs no key.',
  getTaxService:
    'Returns the server that decides your taxes, without its secret. It is null while the built-in rates are used.',
  setTaxService:
    'Sets the server that decides your taxes in place of the built-in rates, for invoices and payments from now on. The response to the first request has the secret that signs the questions. `newSecret` replaces it.',
  deleteTaxService: 'Deletes the tax service. The built-in rates are used from now on.',
}
