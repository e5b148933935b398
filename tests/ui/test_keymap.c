/* The tables of keys: no key twice in a screen, the usual keys are bound, names
 * and keys convert both ways, and help is made from the tables. */
#include "test.h"

#include "ui/kernel.h"
#include "ui/keymap.h"
#include "ui/settings.h"
#include "ui/view_text.h"
#include "ui/view_occupancy.h"
#include "ui/views.h"
#include "ui_fixture.h"

static const struct lab_screen_ops *const SCREENS[] = {
    &lab_view_home,      &lab_view_runs,    &lab_view_run,
    &lab_view_source,    &lab_view_text,    &lab_view_help,
    &lab_view_occupancy, &fixture_busy,     &lab_view_timeline,
    &lab_view_roofline,  &lab_view_compare, &lab_view_what_if,
    &lab_view_flame,     &lab_view_kernel,  &lab_view_tables,
    &lab_view_facts,     &lab_view_lab};
enum { SCREEN_COUNT = sizeof(SCREENS) / sizeof(SCREENS[0]) };

TEST_CASE(every_table_is_sound)
{
    for (int i = 0; i < SCREEN_COUNT; i++)
        if (lab_keymap_check(SCREENS[i]->bindings))
            fail_msg("%s: %s", SCREENS[i]->name, lab_error());
    for (int sideways = 0; sideways < 2; sideways++)
        if (lab_keymap_check(lab_global_keymap(sideways != 0)))
            fail_msg("%s", lab_error());
}

/* Keys of a screen are set by its name. */
TEST_CASE(screens_with_keys_have_a_name_in_the_settings)
{
    const char *name;
    for (int i = 0; i < SCREEN_COUNT; i++) {
        bool found =
            SCREENS[i] == &fixture_busy || SCREENS[i] == &lab_view_help;
        for (int k = 0; (name = lab_ui_setting_screen(k)); k++)
            found = found || strcmp(name, SCREENS[i]->name) == 0;
        if (!found)
            fail_msg("%s", SCREENS[i]->name);
    }
}

TEST_CASE(a_bad_table_is_found)
{
    const struct lab_binding lonely[] = {
        {"F2", true, "two", "has no letter", LAB_ACT_OWN}, {NULL}};
    const struct lab_binding twice[] = {{"a b", true, "one", "x", LAB_ACT_OWN},
                                        {"b", true, "two", "y", LAB_ACT_OWN},
                                        {NULL}};
    const struct lab_binding silent[] = {{"a", true, "one", "", LAB_ACT_OWN},
                                         {NULL}};
    const struct lab_binding none[] = {{"", true, "one", "x", LAB_ACT_OWN},
                                       {NULL}};
    const struct lab_binding wrong[] = {{"a bc", true, "one", "x", LAB_ACT_OWN},
                                        {NULL}};
    assert_int_equal(lab_keymap_check(lonely), LAB_E_CHECK);
    assert_true(error_is("[check] two"));
    assert_int_equal(lab_keymap_check(twice), LAB_E_CHECK);
    assert_int_equal(lab_keymap_check(silent), LAB_E_CHECK);
    assert_int_equal(lab_keymap_check(none), LAB_E_CHECK);
    assert_int_equal(lab_keymap_check(wrong), LAB_E_CHECK);
    const struct lab_binding other[] = {{"g", true, "go", "x", LAB_ACT_OWN},
                                        {NULL}};
    assert_int_equal(lab_keymap_check(other), LAB_E_CHECK);
    assert_true(error_is("[check] g of \"go\" is \"first\" elsewhere"));
}

/* The conventions: keys that must work on every screen. */
TEST_CASE(what_everyone_expects_is_bound)
{
    static const struct {
        int key;
        int action;
    } wanted[] = {{'?', LAB_ACT_HELP},
                  {LAB_KEY_F1, LAB_ACT_HELP},
                  {'q', LAB_ACT_BACK},
                  {LAB_KEY_ESC, LAB_ACT_CANCEL},
                  {LAB_KEY_UP, LAB_ACT_UP},
                  {'k', LAB_ACT_UP},
                  {LAB_KEY_DOWN, LAB_ACT_DOWN},
                  {'j', LAB_ACT_DOWN},
                  {LAB_KEY_LEFT, LAB_ACT_LEFT},
                  {LAB_KEY_RIGHT, LAB_ACT_RIGHT},
                  {'l', LAB_ACT_RIGHT},
                  {'g', LAB_ACT_FIRST},
                  {'G', LAB_ACT_LAST},
                  {LAB_KEY_HOME, LAB_ACT_FIRST},
                  {LAB_KEY_END, LAB_ACT_LAST},
                  {LAB_KEY_PAGE_UP, LAB_ACT_PAGE_UP},
                  {'/', LAB_ACT_SEARCH},
                  {LAB_KEY_PAGE_DOWN, LAB_ACT_PAGE_DOWN},
                  {'n', LAB_ACT_SEARCH_NEXT},
                  {'N', LAB_ACT_SEARCH_PREV},
                  {':', LAB_ACT_COMMAND},
                  {LAB_KEY_CTRL_L, LAB_ACT_REDRAW},
                  {LAB_KEY_TAB, LAB_ACT_NEXT_PANE},
                  {LAB_KEY_BACKTAB, LAB_ACT_PREV_PANE}};
    for (int sideways = 0; sideways < 2; sideways++) {
        const struct lab_binding *t = lab_global_keymap(sideways != 0);
        for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
            const struct lab_binding *b = lab_keymap_find(t, wanted[i].key);
            assert_non_null(b);
            assert_int_equal(b->action, wanted[i].action);
        }
        assert_int_equal(lab_keymap_find(t, 'h')->action,
                         sideways ? LAB_ACT_LEFT : LAB_ACT_HELP);
    }
    assert_null(lab_keymap_find(NULL, 'x'));
    assert_null(lab_keymap_find(lab_global_keymap(true), 0));
}

TEST_CASE(h_and_l_are_arrows_where_arrows_are_used)
{
    int n = 0;
    for (int i = 0; i < SCREEN_COUNT; i++) {
        const struct lab_binding *own = SCREENS[i]->bindings;
        const struct lab_binding *left =
            lab_keymap_find(own, lab_key_parse("Left"));
        const struct lab_binding *right =
            lab_keymap_find(own, lab_key_parse("Right"));
        n += left != NULL;
        if (left) {
            assert_ptr_equal(lab_keymap_find(own, 'h'), left);
            assert_true(SCREENS[i]->sideways); /* help does not name h */
        }
        if (right)
            assert_ptr_equal(lab_keymap_find(own, 'l'), right);
    }
    assert_true(n > 3);
}

TEST_CASE(names_and_keys_go_both_ways)
{
    const int keys[] = {'a',         'Z',         ' ',
                        LAB_KEY_TAB, LAB_KEY_ESC, LAB_KEY_ENTER,
                        1,           LAB_KEY_F1,  LAB_KEY_F12,
                        0xE9,        0x65E5,      0x1F600,
                        LAB_KEY_UP,  LAB_KEY_END, LAB_KEY_BACKTAB,
                        '^'};
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        char name[LAB_KEY_NAME_BYTES];
        assert_int_equal(lab_key_parse(lab_key_name(keys[i], name)), keys[i]);
    }
    assert_int_equal(lab_key_parse(""), LAB_KEY_NONE);
    assert_int_equal(lab_key_parse("F13"), LAB_KEY_NONE);
    assert_int_equal(lab_key_parse("F1x"), LAB_KEY_NONE);
    assert_int_equal(lab_key_parse("ab"), LAB_KEY_NONE);
    assert_int_equal(lab_key_parse("\xFF"), LAB_KEY_NONE);
}

/* Each row of the tables is in the text, the screen's own first. */
TEST_CASE(help_is_made_from_the_tables)
{
    for (int i = 0; i < SCREEN_COUNT; i++) {
        const struct lab_screen_ops *ops = SCREENS[i];
        const struct lab_binding *all = lab_global_keymap(ops->sideways);
        const struct lab_binding *own = ops->bindings;
        struct lab_doc doc;
        lab_doc_init(&doc);
        lab_help_write(&doc, ops, own);
        assert_ok(lab_doc_check(&doc));
        const char *text = lab_str_text(&doc.text);
        const char *everywhere = strstr(text, "Everywhere");
        assert_non_null(everywhere);
        for (const struct lab_binding *b = own; b && b->keys; b++) {
            const char *at = strstr(text, b->help);
            assert_non_null(at);
            assert_true(at < everywhere);
        }
        for (const struct lab_binding *b = all; b->keys; b++) {
            const char *names = b->keys;
            bool free = false; /* a key that the screen itself does not take */
            for (int k = lab_key_next(&names); k; k = lab_key_next(&names))
                free = free || !lab_keymap_find(own, k);
            if (free && !lab_keymap_action(own, b->action))
                assert_non_null(strstr(everywhere, b->help));
        }
        assert_int_equal(strstr(text, "explain TENSOR[I,J]") != NULL,
                         ops->command != NULL);
        lab_doc_release(&doc);
    }
}

RUN_TESTS()
