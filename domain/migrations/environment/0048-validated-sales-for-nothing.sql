-- In a transaction of its own: the scan of all payments then does not wait under the lock that changing the constraint took, and payments
-- are made meanwhile.
alter table payment_intents validate constraint payment_intents_original_amount_check;
