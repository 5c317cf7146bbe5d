/** Whether a failed job cost money. `maybe`: it may have run or may still run; millrace never sends it again by itself. */
export type Paid = 'no' | 'maybe' | 'yes';
