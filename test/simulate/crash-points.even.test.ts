import { describe } from 'vitest';
import { dieAtEveryOtherCall } from './die-at-every-other-call.js';

describe('the second call, the fourth, the sixth …', () => dieAtEveryOtherCall(2));
