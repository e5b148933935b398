/* The module that test_module.c opens. */
extern const int sample_answer;
const int sample_answer = 42;
