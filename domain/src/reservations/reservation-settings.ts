import { integerSetting } from '@tollgate/platform/config/settings'
import { reservationLifetimeSecondsMax, reservationSecondsMax } from '@tollgate/schemas/limits'

/** Limit of extensions, for the service that extends reservations. */
export const reservationLifetimeSettings = {
  reservationLifetimeSecondsMax: integerSetting(
    'TOLLGATE_RESERVATION_LIFETIME_SECONDS_MAX',
    'Maximum seconds from the creation of a reservation to its expiry, however often it is extended',
    86_400,
    { min: 1, max: reservationLifetimeSecondsMax },
  ),
}

/** Limits of reservations. All services that reserve should have the same values. */
export const reservationSettings = {
  reservationSecondsMax: integerSetting(
    'TOLLGATE_RESERVATION_SECONDS_MAX',
    'Maximum lifetime of a reservation, in seconds',
    3_600,
    { min: 1, max: reservationSecondsMax },
  ),
  reservationsMax: integerSetting(
    'TOLLGATE_RESERVATIONS_MAX',
    'Maximum reservations of one customer and product at a time; further requests get 503',
    100_000,
    { min: 1, max: 10_000_000 },
  ),
}
