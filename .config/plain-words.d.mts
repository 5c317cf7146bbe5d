export declare const plainWords: import('eslint').Rule.RuleModule;
